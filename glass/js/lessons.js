// Lessons by the lab that they belong to. What they say must be seen on the page, not taken on trust.

import { bufferbloat } from "./lessons/bufferbloat.js";
import { holBlocking } from "./lessons/hol_blocking.js";
import { linkSharing } from "./lessons/link_sharing.js";
import { queueManagement } from "./lessons/queue_management.js";

export const LESSONS = Object.fromEntries([holBlocking, bufferbloat, linkSharing, queueManagement].map((each) => [each.name, each]));
