//! What Imre et al. claim of their model, judged by a calibration of ours.
//!
//! A claim is about how costs depend on each other, not how large they are. Each activity is judged on its own; a calibration has its
//! intervals in its coefficients, and two of these are equal where they differ by less than both margins. Several calibrations are
//! repetitions.

use deltasoap_cost::fit::regression::{Coefficient, Regression};
use deltasoap_cost::paper::Printed as Paper;
use deltasoap_cost::workload::Class;
use deltasoap_cost::{Activity, ActivityModel, Model};
use deltasoap_report::{Basis, Claim, Evidence, Printed, Registered, Sizes, Test, Verdict};

/// A verdict for each claim and each activity of the paper, by the models of one calibration or more. A calibration without a model, because
/// its times are noise, is an error with the reason.
pub fn verdicts(models: &[Result<Model, String>], paper: &Paper) -> Vec<Verdict> {
    let fitted_of = |activity| models.iter().map(|model| fitted(model, activity)).collect::<Vec<Fitted<'_>>>();
    let of = |activity| {
        let repetitions = fitted_of(activity);
        claims(activity, paper).into_iter().map(|registered| registered.judge(&repetitions)).collect::<Vec<_>>()
    };
    ACTIVITIES.into_iter().flat_map(of).collect()
}

/// The activities that the paper has. It serializes to a socket; what is judged here is serializing to memory.
const ACTIVITIES: [Activity; 2] = [Activity::Serialize, Activity::Deserialize];

fn fitted(model: &Result<Model, String>, activity: Activity) -> Fitted<'_> {
    let model = model.as_ref().map_err(Clone::clone)?;
    model.activities.get(&activity).ok_or_else(|| "not measured".to_owned())
}

/// What was fitted of an activity, or why nothing was.
type Fitted<'m> = Result<&'m ActivityModel, String>;

type Found = Result<Evidence, String>;

fn claims<'m>(activity: Activity, paper: &Paper) -> Vec<Registered<'static, Fitted<'m>>> {
    let is_meant = |name: &str| name.ends_with(if activity == Activity::Serialize { ", ser" } else { ", deser" });
    let of_arrays = paper.table1.iter().filter(|row| is_meant(&row.0)).map(|row| unexplained(row.3));
    let of_types = paper.table3.iter().filter(|row| is_meant(&row.0)).map(|row| unexplained(row.6));
    let (of_arrays, of_types) = (of_arrays.fold(0.0, f64::max), of_types.fold(0.0, f64::max));
    let equal = Test::AtMost(1.0);
    let entry = |key: &str, place: &str, statement: &str, test: Test, find: fn(&ActivityModel) -> Found| {
        let claim = claim(activity, key, place, statement, test);
        Registered::new(claim, &[], move |fitted: &Fitted<'m>, _: &[usize]| find(fitted.clone()?))
    };
    let printed = |mut registered: Registered<'static, Fitted<'m>>, number: f64| {
        registered.claim.printed = Printed::Number(number);
        registered
    };
    let known = |mut registered: Registered<'static, Fitted<'m>>, because: &str| {
        registered.claim.because = Some(because.to_owned());
        registered
    };
    vec![
        printed(
            entry(
                "arrays",
                "Table 1",
                "percent of the variance of arrays that their length does not explain, the greatest",
                Test::AtMost(1.0),
                |it| left(it.arrays.iter().map(|(_, line)| line)),
            ),
            of_arrays,
        ),
        known(
            entry(
                "cut-offs",
                "3.2",
                "lines that strings by length fall into (2 and more)",
                Test::AtLeast(2.0),
                cut_offs,
            ),
            "no buffer of a fixed size is filled here",
        ),
        printed(
            entry(
                "composites",
                "Table 3",
                "percent of the variance of composite types that their fields do not explain, the greatest",
                Test::AtMost(of_types),
                |it| left(it.composites.iter().map(|(_, fit)| fit)),
            ),
            of_types,
        ),
        entry(
            "by-length",
            "3.3, Figures 9 and 10",
            "coefficients of int and double for different lengths of strings: difference by both margins, the greatest",
            equal.clone(),
            across_lengths,
        ),
        known(
            entry(
                "fields",
                "3.4, equations 4 and 5",
                "coefficients of int and double in composite types and in arrays: difference by both margins, the greatest",
                equal.clone(),
                fields_and_items,
            ),
            "a field has a name of its own to be written or matched, an item of a list of numbers none",
        ),
        entry(
            "constant",
            "3.4, equation 8",
            "constants of composite types and of arrays of int: difference by both margins, the greatest",
            equal,
            constants,
        ),
        entry(
            "sum",
            "3.3, Figures 13 and 14",
            "sum of the constants of the three kinds of arrays by that of composite types, the least",
            Test::AtLeast(1.0),
            sum_of_constants,
        ),
    ]
}

fn claim(activity: Activity, key: &str, place: &str, statement: &str, test: Test) -> Claim {
    Claim {
        key: format!("{key}: {activity}"),
        paper: "Cost model".to_owned(),
        place: place.to_owned(),
        statement: format!("{activity}: {statement}"),
        printed: Printed::Words,
        sizes: Sizes::None,
        basis: Basis::Times,
        test,
        because: None,
    }
}

/// Percent of the variance that a fit leaves unexplained: what R² lacks of 1.
fn unexplained(r_squared: f64) -> f64 {
    (1.0 - r_squared) * 100.0
}

fn left<'r>(fits: impl Iterator<Item = &'r Regression>) -> Found {
    Ok(Evidence::Numbers(fits.map(|fit| unexplained(fit.r_squared)).collect()))
}

fn cut_offs(it: &ActivityModel) -> Found {
    let texts = it.texts.as_ref().ok_or("no strings were measured")?;
    Ok(Evidence::from(texts.segments.len() as f64))
}

/// How far two coefficients lie apart, by the sum of their margins.
fn apart(one: &Coefficient, other: &Coefficient) -> f64 {
    (one.value - other.value).abs() / (one.margin + other.margin)
}

const FIELDS: [(&str, Class); 2] = [("int", Class::Int), ("double", Class::Double)];

fn across_lengths(it: &ActivityModel) -> Found {
    let mut all = Vec::new();
    for (name, _) in FIELDS {
        let fitted: Vec<&Coefficient> = it.composites.iter().filter_map(|(_, fit)| fit.coefficient(name)).collect();
        for (at, one) in fitted.iter().enumerate() {
            all.extend(fitted[at + 1..].iter().map(|other| apart(one, other)));
        }
    }
    Ok(Evidence::Numbers(all))
}

/// A coefficient of the line of an array: the constant, or what an item costs.
fn of_array(it: &ActivityModel, class: Class, at: usize) -> Result<&Coefficient, String> {
    let line = it.arrays.iter().find(|array| array.0 == class).map(|array| &array.1);
    line.and_then(|line| line.coefficients.get(at)).ok_or_else(|| format!("no arrays of {class} were measured"))
}

fn fields_and_items(it: &ActivityModel) -> Found {
    let mut all = Vec::new();
    for (name, class) in FIELDS {
        let item = of_array(it, class, 1)?;
        all.extend(it.composites.iter().filter_map(|(_, fit)| fit.coefficient(name)).map(|field| apart(field, item)));
    }
    Ok(Evidence::Numbers(all))
}

/// The constants of composite types, by length of strings.
fn of_composites(it: &ActivityModel) -> impl Iterator<Item = &Coefficient> {
    it.composites.iter().filter_map(|(_, fit)| fit.coefficients.first())
}

fn constants(it: &ActivityModel) -> Found {
    let ints = of_array(it, Class::Int, 0)?;
    Ok(Evidence::Numbers(of_composites(it).map(|constant| apart(constant, ints)).collect()))
}

fn sum_of_constants(it: &ActivityModel) -> Found {
    let parts = [Class::Int, Class::Double, Class::Text].map(|class| of_array(it, class, 0).map(|it| it.value));
    let sum: f64 = parts.into_iter().collect::<Result<Vec<f64>, String>>()?.iter().sum();
    Ok(Evidence::Numbers(of_composites(it).map(|constant| sum / constant.value).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_cost::Calibration;
    use deltasoap_cost::paper::printed;
    use deltasoap_report::Outcome;
    use std::path::Path;

    /// The model of a calibration, with other numbers: `constant` and `field` of composite types by their place, beside 10 and 1 of arrays.
    fn judged(r_squared: f64, segments: usize, constant: f64, field: fn(usize) -> f64) -> Vec<Verdict> {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/deltasoap-cli/tests/data/cost.json");
        let mut model = Model::fit(&Calibration::load(Path::new(sample)).unwrap()).unwrap();
        let set = |coefficient: &mut Coefficient, value: f64| {
            (coefficient.value, coefficient.margin) = (value, value / 10.0);
        };
        for fitted in model.activities.values_mut() {
            for (_, line) in &mut fitted.arrays {
                line.r_squared = r_squared;
                set(&mut line.coefficients[0], 10.0);
                set(&mut line.coefficients[1], 1.0);
            }
            for (at, (_, fit)) in fitted.composites.iter_mut().enumerate() {
                fit.r_squared = r_squared;
                set(&mut fit.coefficients[0], constant);
                fit.coefficients[1..].iter_mut().for_each(|coefficient| set(coefficient, field(at)));
            }
            if let Some(texts) = &mut fitted.texts {
                texts.segments = vec![texts.segments[0].clone(); segments];
            }
        }
        verdicts(&[Ok(model)], &printed().unwrap())
    }

    #[test]
    fn every_claim_can_agree_and_can_differ() {
        let agreeing = judged(0.9999, 2, 10.5, |_| 1.05);
        let differing = judged(0.5, 1, 1000.0, |at| 3.0 + 10.0 * at as f64);
        assert_eq!((agreeing.len(), differing.len()), (14, 14));
        for (agrees, differs) in agreeing.iter().zip(&differing) {
            assert_eq!(agrees.outcome, Outcome::Agrees, "{agrees:?}");
            assert_eq!(differs.outcome, Outcome::Differs, "{differs:?}");
        }
    }

    #[test]
    fn what_was_not_measured_says_so() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/deltasoap-cli/tests/data/cost.json");
        let mut model = Model::fit(&Calibration::load(Path::new(sample)).unwrap()).unwrap();
        model.activities.clear();
        let of = |models: &[Result<Model, String>]| verdicts(models, &printed().unwrap());
        assert!(of(&[Ok(model)]).iter().all(|it| it.outcome == Outcome::NotMeasured && it.why() == "not measured"));
        let noise = of(&[Err("all noise".to_owned())]);
        assert!(noise.iter().all(|it| it.outcome == Outcome::NotMeasured && it.why() == "all noise"));
        assert_eq!(noise.len(), 14);
    }
}
