"""Where does it run? On this machine, in one process or several. Engines know no rooms."""
