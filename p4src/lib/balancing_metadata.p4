// The metadata of balancing.p4 and queue_telling.p4.

#ifndef VITRINE_LIB_BALANCING_METADATA_P4
#define VITRINE_LIB_BALANCING_METADATA_P4

// The field list that a copy for the first router keeps.
#define FEEDBACK_FIELDS 2

struct balancing_metadata_t {
    // How many paths the packet's group has; 0: one hop, or a group that is not balanced.
    bit<16> count;
    // The path that the packet takes, below `count`.
    bit<16> path;
    // The port of that path, and of the one after it.
    port_num_t port;
    port_num_t next_port;
    // It leaves toward a host: this is its last router.
    bool    is_leaving;
    // It tells this router that the path behind the port it came from is full.
    bool    is_told_full;
    // It is the copy that is to say so.
    @field_list(FEEDBACK_FIELDS)
    bit<1>  is_feedback;
}

#endif
