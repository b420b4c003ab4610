"""`python -m tools.sample_web`: write the archive and the labels that `pagekin.sample_web` ships."""

from pathlib import Path

from tools.sample_web import write_warc

SHIPPED = Path(__file__).parents[2] / "src" / "pagekin" / "sample_web" / "sample_web.warc.gz"

if __name__ == "__main__":
    print(write_warc(SHIPPED))
