"""`python -m tools.machine_code`: see `build.py`."""

from tools.machine_code.build import main

if __name__ == "__main__":
    main()
