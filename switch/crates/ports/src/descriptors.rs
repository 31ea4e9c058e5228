//! How many files a process may have open.

/// Raises the limit as far as it goes without root's help: a shell's usual 1024 is less than 511 ports
/// with two captures each. A kernel that refuses leaves it as it was.
pub fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one `rlimit`, and reads it, while it lives.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max
        {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// How many files this process may have open now.
pub(crate) fn descriptor_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one `rlimit` while it lives.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        raise_descriptor_limit();
        let limits = std::fs::read_to_string("/proc/self/limits").expect("Linux has it");
        let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let mut both = files.expect("it is among them").split_whitespace();
        let (soft, hard) = (both.next(), both.next());
        assert_eq!(soft, hard);
        // "unlimited" is no number, and the kernel allows none of files.
        assert_eq!(hard.and_then(|text| text.parse().ok()), Some(descriptor_limit()));
    }
}
