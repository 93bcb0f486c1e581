"""`python -m lumen` is `lumen`."""

from lumen.main import main

main()
