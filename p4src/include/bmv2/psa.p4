// SPDX-License-Identifier: Apache-2.0
// Programs include BMv2's psa.p4 by this name; here it is the same file.
#include <psa.p4>
