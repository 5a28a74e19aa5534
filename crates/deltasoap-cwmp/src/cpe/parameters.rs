//! A CPE's parameters: a tree, stored by full paths.

use crate::types::{Notification, ParameterInfoStruct, ParameterValueStruct, Text};
use crate::{CwmpFault, fault};
use deltasoap::types::{AnySimple, Simple};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The parameters of a CPE, and the objects that instances can be added to.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    values: BTreeMap<String, Parameter>,
    tables: BTreeMap<String, Instances>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The value; its type is that of the parameter.
    pub value: Simple,
    /// True if an ACS may set it.
    pub writable: bool,
    /// How changes are reported.
    pub notification: Notification,
    /// Entities other than the ACS that may set it.
    pub access_list: Vec<String>,
}

/// An object whose instances can be added and deleted.
#[derive(Debug, Clone)]
struct Instances {
    /// The number of the next instance; no number is used twice (A.3.2.6).
    next: u32,
    /// The initial parameters of an instance, by paths relative to it.
    template: Vec<(String, Parameter)>,
}

impl Parameter {
    /// Creates a parameter that an ACS may not set.
    pub fn read_only(value: Simple) -> Self {
        Parameter { value, writable: false, notification: Notification::Off, access_list: Vec::new() }
    }

    /// Creates a parameter that an ACS may set.
    pub fn writable(value: Simple) -> Self {
        Parameter { writable: true, ..Parameter::read_only(value) }
    }
}

impl Parameters {
    /// Adds or replaces a parameter.
    pub fn insert(&mut self, path: impl Into<String>, parameter: Parameter) {
        self.values.insert(path.into(), parameter);
    }

    /// Adds an object whose instances an ACS may add and delete. `path` ends with a dot; `template`
    /// has the initial parameters of an instance, by paths relative to it, such as `Enable`.
    pub fn insert_table(
        &mut self,
        path: impl Into<String>,
        template: impl IntoIterator<Item = (&'static str, Parameter)>,
    ) {
        let template = template.into_iter().map(|(path, parameter)| (path.to_owned(), parameter)).collect();
        self.tables.insert(path.into(), Instances { next: 1, template });
    }

    /// Returns a parameter by its full path.
    pub fn get(&self, path: &str) -> Option<&Parameter> {
        self.values.get(path)
    }

    /// Returns a parameter by its full path, for changes by the device itself.
    pub fn get_mut(&mut self, path: &str) -> Option<&mut Parameter> {
        self.values.get_mut(path)
    }

    /// Iterates over all parameters with their full paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.values.iter().map(|(path, parameter)| (path.as_str(), parameter))
    }

    /// Resolves names to full paths (A.3.2.2): a full path stands for itself, one with a dot at the
    /// end for everything below, an empty one for all parameters.
    ///
    /// # Errors
    /// Returns the fault 9005 for a name that matches no parameter.
    pub(super) fn named(&self, names: &[Text]) -> Result<Vec<&str>, CwmpFault> {
        let mut found = Vec::new();
        for Text(name) in names {
            if !is_partial(name) {
                found.push(self.values.get_key_value(name).ok_or_else(|| unknown(name))?.0.as_str());
                continue;
            }
            if !self.is_object(name) {
                return Err(unknown(name));
            }
            found.extend(self.below(name).map(|(path, _)| path.as_str()));
        }
        Ok(found)
    }

    /// See [`GetParameterNames`](crate::types::GetParameterNames) (A.3.2.3).
    pub(super) fn names(&self, path: &str, next_level: bool) -> Result<Vec<ParameterInfoStruct>, CwmpFault> {
        if !is_partial(path) {
            let parameter = self.values.get(path).ok_or_else(|| unknown(path))?;
            if next_level {
                return Err(CwmpFault::from_code(fault::INVALID_ARGUMENTS));
            }
            return Ok(vec![ParameterInfoStruct { name: path.to_owned(), writable: parameter.writable }]);
        }
        if !self.is_object(path) {
            return Err(unknown(path));
        }
        let mut names = BTreeSet::new();
        if !next_level && !path.is_empty() {
            names.insert(path.to_owned());
        }
        let tables = self.tables.keys().filter(|table| table.starts_with(path));
        for full in self.below(path).map(|(full, _)| full).chain(tables) {
            // Includes every object on the path to it.
            let rest = &full[path.len()..];
            let ends = rest.match_indices('.').map(|(dot, _)| path.len() + dot + 1).chain([full.len()]);
            let ends = ends.filter(|end| *end > path.len());
            names.extend(ends.take(if next_level { 1 } else { usize::MAX }).map(|end| full[..end].to_owned()));
        }
        let info = |name: String| ParameterInfoStruct { writable: self.is_writable(&name), name };
        Ok(names.into_iter().map(info).collect())
    }

    /// Returns true if a parameter can be set, or instances of an object can be added or deleted.
    fn is_writable(&self, path: &str) -> bool {
        match self.values.get(path) {
            Some(parameter) => parameter.writable,
            None => self.tables.contains_key(path) || self.table_of(path).is_some(),
        }
    }

    /// Sets parameters, all or none (A.3.2.1). Returns the paths of those whose values have
    /// changed.
    ///
    /// # Errors
    /// Returns the fault 9003, with the error of each invalid parameter.
    pub(super) fn set(&mut self, values: &[ParameterValueStruct]) -> Result<(), CwmpFault> {
        let mut fault = CwmpFault::from_code(fault::INVALID_ARGUMENTS);
        let mut names = HashSet::new();
        for ParameterValueStruct { name, value: AnySimple(value) } in values {
            if !names.insert(name) {
                return Err(CwmpFault::new(fault::INVALID_ARGUMENTS, format!("{name} occurs twice")));
            }
            let code = match self.values.get(name) {
                None => fault::INVALID_PARAMETER_NAME,
                Some(parameter) if !parameter.writable => fault::NON_WRITABLE_PARAMETER,
                Some(parameter) if parameter.value.builtin() != value.builtin() => fault::INVALID_PARAMETER_TYPE,
                Some(_) => continue,
            };
            fault = fault.with_parameter(name, code);
        }
        if !fault.parameters.is_empty() {
            return Err(fault);
        }
        for ParameterValueStruct { name, value: AnySimple(value) } in values {
            if let Some(parameter) = self.values.get_mut(name) {
                parameter.value = value.clone();
            }
        }
        Ok(())
    }

    /// Adds an instance of an object (A.3.2.6). Returns its number.
    ///
    /// # Errors
    /// Returns the fault 9005 if `object` is not an object that instances can be added to.
    pub(super) fn add(&mut self, object: &str) -> Result<u32, CwmpFault> {
        let instances = self.tables.get_mut(object).ok_or_else(|| unknown(object))?;
        let number = instances.next;
        instances.next = number.checked_add(1).ok_or_else(|| CwmpFault::from_code(fault::RESOURCES_EXCEEDED))?;
        for (path, parameter) in &instances.template {
            self.values.insert(format!("{object}{number}.{path}"), parameter.clone());
        }
        Ok(number)
    }

    /// Deletes an instance of an object (A.3.2.7).
    ///
    /// # Errors
    /// Returns the fault 9005 if `instance` is not an instance that can be deleted.
    pub(super) fn delete(&mut self, instance: &str) -> Result<(), CwmpFault> {
        if self.table_of(instance).is_none() || !self.is_object(instance) {
            return Err(unknown(instance));
        }
        self.values.retain(|path, _| !path.starts_with(instance));
        Ok(())
    }

    /// Returns the object that a path is an instance of: `A.B.` for `A.B.3.`.
    fn table_of(&self, path: &str) -> Option<&str> {
        let (object, number) = path.strip_suffix('.')?.rsplit_once('.')?;
        let (table, _) = self.tables.get_key_value(&path[..=object.len()])?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(table)
    }

    fn is_object(&self, path: &str) -> bool {
        path.is_empty() || self.tables.contains_key(path) || self.below(path).next().is_some()
    }

    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a String, &'a Parameter)> {
        self.values.range(path.to_owned()..).take_while(move |(full, _)| full.starts_with(path))
    }
}

fn is_partial(path: &str) -> bool {
    path.is_empty() || path.ends_with('.')
}

fn unknown(path: &str) -> CwmpFault {
    CwmpFault::new(fault::INVALID_PARAMETER_NAME, format!("{path} does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        let mut parameters = Parameters::default();
        parameters.insert("Device.Info.Name", Parameter::read_only(Simple::String("box".into())));
        parameters.insert("Device.Info.Up", Parameter::read_only(Simple::UnsignedInt(7)));
        parameters.insert("Device.Led", Parameter::writable(Simple::Boolean(false)));
        parameters.insert_table("Device.Hosts.", [("Name", Parameter::writable(Simple::String("".into())))]);
        parameters
    }

    fn names(parameters: &Parameters, path: &str, next_level: bool) -> String {
        let names = parameters.names(path, next_level).map_err(|fault| fault.code.to_string());
        let shown = |info: ParameterInfoStruct| format!("{}{}", info.name, if info.writable { "!" } else { "" });
        names.map_or_else(|code| code, |all| all.into_iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_are_told_as_annex_a_says() {
        let parameters = parameters();
        assert_eq!(names(&parameters, "", true), "Device.");
        assert_eq!(names(&parameters, "Device.", true), "Device.Hosts.! Device.Info. Device.Led!");
        assert_eq!(names(&parameters, "Device.Info.", false), "Device.Info. Device.Info.Name Device.Info.Up");
        assert_eq!(
            names(&parameters, "", false),
            "Device. Device.Hosts.! Device.Info. Device.Info.Name Device.Info.Up Device.Led!"
        );
        assert_eq!(names(&parameters, "Device.Led", false), "Device.Led!");
        assert_eq!(names(&parameters, "Device.Hosts.", true), "");
        let refused = [("Device.Led", true, "9003"), ("Device.Le", false, "9005"), ("Device.In.", false, "9005")];
        for (path, next_level, code) in refused {
            assert_eq!(names(&parameters, path, next_level), code, "{path}");
        }
    }

    #[test]
    fn parameters_are_set_together_or_not_at_all() {
        let mut parameters = parameters();
        let led = |on| ParameterValueStruct::boolean("Device.Led", on);
        let wrong = [
            led(true),
            ParameterValueStruct::string("Device.Info.Name", "x"),
            ParameterValueStruct::string("Device.No", "x"),
        ];
        let fault = parameters.set(&wrong).expect_err("a fault");
        let codes: Vec<_> = fault.parameters.iter().map(|parameter| parameter.code).collect();
        assert_eq!((fault.code, codes), (9003, vec![9008, 9005]));
        assert_eq!(parameters.get("Device.Led").expect("a parameter").value, Simple::Boolean(false));
        assert_eq!(parameters.set(&[led(true), led(true)]).expect_err("a fault").code, 9003);
        let typed = parameters.set(&[ParameterValueStruct::int("Device.Led", 1)]).expect_err("a fault");
        assert_eq!(typed.parameters[0].code, 9006);
        assert_eq!(parameters.set(&[led(true)]), Ok(()));
        assert_eq!(parameters.get("Device.Led").expect("a parameter").value, Simple::Boolean(true));
    }

    #[test]
    fn instances_come_and_go_and_their_numbers_are_not_used_twice() {
        let mut parameters = parameters();
        assert_eq!((parameters.add("Device.Hosts."), parameters.add("Device.Hosts.")), (Ok(1), Ok(2)));
        assert_eq!(names(&parameters, "Device.Hosts.", true), "Device.Hosts.1.! Device.Hosts.2.!");
        assert_eq!(parameters.delete("Device.Hosts.2."), Ok(()));
        assert_eq!(parameters.add("Device.Hosts."), Ok(3));
        for wrong in ["Device.Hosts.2.", "Device.Hosts.", "Device.", "Device.Info.", "", ".", "Device.Hosts.1"] {
            assert_eq!(parameters.delete(wrong).expect_err("a fault").code, 9005, "{wrong}");
        }
        assert_eq!(parameters.add("Device.Info.").expect_err("a fault").code, 9005);
    }
}
