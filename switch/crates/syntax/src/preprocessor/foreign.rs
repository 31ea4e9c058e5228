//! Includes of architectures for other switches, known by their names.

/// File, and the architecture that it declares.
const ARCHITECTURES: [(&str, &str); 9] = [
    ("dpdk/pna.p4", "the Portable NIC Architecture (PNA)"),
    ("dpdk/psa.p4", "the Portable Switch Architecture (PSA)"),
    ("ebpf_model.p4", "the architecture of eBPF filters"),
    ("pna.p4", "the Portable NIC Architecture (PNA)"),
    ("simple_sume_switch.p4", "the architecture of NetFPGA SUME"),
    ("tofino.p4", "the architecture of Tofino"),
    ("ubpf_model.p4", "the architecture of uBPF"),
    ("xdp_model.p4", "the architecture of XDP programs"),
    ("xsa.p4", "the architecture of AMD's Vitis Networking P4"),
];

/// The hint for a missing file that declares an architecture for another switch.
pub(super) fn hint(file: &str) -> Option<String> {
    let (_, what) = ARCHITECTURES.iter().find(|(name, _)| *name == file)?;
    Some(format!(
        "{file} declares {what}; this compiler is for v1model, BMv2's PSA and Tofino: #include <v1model.p4>, <psa.p4>, <tna.p4> or <t2na.p4>"
    ))
}
