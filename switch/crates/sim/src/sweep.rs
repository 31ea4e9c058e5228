//! `FROM:TO:STEP`, as `--sweep` takes it.

/// The values from FROM to TO; counted in steps, so that rounding never adds or loses the last.
pub fn read(text: &str) -> Result<Vec<f64>, String> {
    values(text)
        .ok_or_else(|| format!("--sweep: `{text}`: write FROM:TO:STEP, such as 0.1:1.0:0.1"))
}

fn values(text: &str) -> Option<Vec<f64>> {
    let numbers: Vec<f64> = text.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [from, to, step] = numbers[..] else { return None };
    if !(step > 0.0 && to >= from && to.is_finite()) {
        return None;
    }
    let count = ((to - from) / step + 1e-9).floor() as u64;
    // Rounded to a millionth: 0.1 + 2 x 0.1 shall be 0.3.
    Some((0..=count).map(|i| ((from + step * i as f64) * 1e6).round() / 1e6).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_both_ends_and_round_numbers() {
        assert_eq!(read("0.1:0.5:0.1"), Ok(vec![0.1, 0.2, 0.3, 0.4, 0.5]));
        for text in ["0.5:0.1:0.1", "0.1:0.5", "0.1:0.5:0", "a:b:c"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
