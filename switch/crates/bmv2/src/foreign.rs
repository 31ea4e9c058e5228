//! JSON for another kind of switch, recognised by members that only that kind has.

use serde_json::Value;

/// The kind of the JSON, if it is known and no program for a BMv2 switch of v1model or PSA.
pub(crate) fn what(json: &Value) -> Option<String> {
    let has = |key: &str| json.get(key).is_some();
    if has("Node_Type") {
        return Some("p4c's inner form of a program (--toJSON)".to_owned());
    }
    if has("pkgInfo") || has("pkg_info") {
        return Some("P4Info, which goes into p4info".to_owned());
    }
    if has("schema_version") {
        return Some(match json.get("target").and_then(Value::as_str) {
            Some(target) => format!("a context file for the target {target}"),
            None => "a schema for bf-runtime".to_owned(),
        });
    }
    let mut controls = json.get("pipelines")?.as_array()?.iter();
    let is_for_nic =
        controls.any(|control| control.get("name").and_then(Value::as_str) == Some("main_control"));
    is_for_nic.then(|| "a program for the architecture PNA (pna_nic)".to_owned())
}
