//! "Did you mean ...?"

/// Longer names are given no suggestion, and are none: a comparison takes as many steps as both have
/// characters, multiplied.
const LENGTH_MAX: usize = 64;

/// The name among `names` that is most like `wanted`, if one is like it at all.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // One typing error for every three characters.
    let limit = (wanted.len() / 3).clamp(1, 3);
    let names = if wanted.len() <= LENGTH_MAX { Some(names) } else { None };
    names
        .into_iter()
        .flatten()
        .filter(|name| *name != wanted && name.len().abs_diff(wanted.len()) <= limit)
        .map(|name| (distance(wanted, name), name))
        // Of a name of one letter nothing would be left that is alike.
        .filter(|(distance, _)| *distance <= limit && *distance < wanted.len())
        .min()
        .map(|(_, name)| name)
}

/// The name among `names` that has the same letters as `wanted`: `Register` and `register`,
/// `DirectCounter` and `direct_counter`.
pub fn same_letters<'n>(wanted: &str, mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    let wanted_letters = letters(wanted);
    names.find(|name| *name != wanted && letters(name) == wanted_letters)
}

/// Levenshtein's distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, x) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let cost = diagonal + usize::from(x != *y);
            left = cost.min(above + 1).min(left + 1);
            next.push(left);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{nearest, same_letters};

    #[test]
    fn a_typing_error_finds_its_name_and_a_stranger_does_not() {
        let names = ["ethernet", "ipv4", "egress_spec"];
        assert_eq!(nearest("etherent", names.into_iter()), Some("ethernet"));
        assert_eq!(nearest("Ipv4", names.into_iter()), Some("ipv4"));
        assert_eq!(nearest("tcp", names.into_iter()), None);
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "n".repeat(64);
        let nearly = format!("{}m", &long[1..]);
        assert_eq!(nearest(&nearly, [&*long].into_iter()), Some(&*long));
        let (longer, nearly) = ("n".repeat(65), "n".repeat(66));
        assert_eq!(nearest(&nearly, [&*longer].into_iter()), None);
    }

    #[test]
    fn another_way_to_write_a_name_has_the_same_letters() {
        let names = ["register", "direct_counter", "Counter"];
        assert_eq!(same_letters("Register", names.into_iter()), Some("register"));
        assert_eq!(same_letters("DirectCounter", names.into_iter()), Some("direct_counter"));
        assert_eq!(same_letters("Counter", names.into_iter()), None);
        assert_eq!(same_letters("Registers", names.into_iter()), None);
    }
}
