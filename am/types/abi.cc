#include "am/types/abi.h"

const char SPLITPHASE_BUILD = SPLITPHASE_CHECKED;
