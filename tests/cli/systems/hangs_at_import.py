"""A module whose import never ends."""

import time

time.sleep(3600)
