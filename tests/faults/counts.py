"""How large the campaigns of this folder are. Every day they are samples; from 1,000 on nothing is sampled any more."""

import os
from typing import Final

COUNT: Final = int(os.environ.get("LUMEN_FAULT_COUNT", "100"))
SEED: Final = int(os.environ.get("LUMEN_FAULT_SEED", "0"))
IS_WHOLE: Final = COUNT >= 1000
PATIENCE: Final = 1800.0  # seconds until a child process counts as hanging; says nothing about speed
