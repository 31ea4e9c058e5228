// Lessons by the lab that they belong to. The page must show each claim of a lesson.

import { bufferbloat } from "./lessons/bufferbloat.js";
import { crossbarArbiters } from "./lessons/crossbar_arbiters.js";
import { holBlocking } from "./lessons/hol_blocking.js";
import { linkSharing } from "./lessons/link_sharing.js";
import { queueManagement } from "./lessons/queue_management.js";
import { schedulers } from "./lessons/schedulers.js";
import { sharedBuffer } from "./lessons/shared_buffer.js";
import { whoSeesTheQueue } from "./lessons/who_sees_the_queue.js";

const ALL = [holBlocking, bufferbloat, linkSharing, queueManagement, schedulers, sharedBuffer, crossbarArbiters,
             whoSeesTheQueue];

export const LESSONS = Object.fromEntries(ALL.map((each) => [each.name, each]));
