// SPDX-License-Identifier: Apache-2.0
// t2na.p4: the Tofino Native Architecture of Tofino 2.

#ifndef __T2NA_P4__
#define __T2NA_P4__

#undef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 2
#include "tna.p4"

#endif  // __T2NA_P4__
