"""python -m pliant."""

from pliant.command.cli import main

main()
