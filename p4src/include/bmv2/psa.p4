// SPDX-License-Identifier: Apache-2.0
// The name under which programs ask for the psa.p4 of BMv2; there is one here, and it is that.
#include <psa.p4>
