"""Where things lie in the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
SOURCES = ROOT / "src"
SUPPORT = ROOT / "tests" / "support"
DATA = ROOT / "tests" / "data"
ROBOTS = DATA / "robots"
