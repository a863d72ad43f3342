/// The JSON Schema of scene files, as text: what editors complete and check with.
///
/// It is made from the same types that read them.
pub fn schema_json() -> String {
    crate::print::to_text(&schemars::schema_for!(crate::Scene))
}
