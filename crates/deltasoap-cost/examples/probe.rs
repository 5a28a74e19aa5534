use deltasoap_cost::measure::*;
use deltasoap_cost::*;
struct W;
impl Watch for W {
    fn at(&mut self, _: usize, _: usize) {}
    fn round(&mut self, c: &Calibration) -> Result<(), CostError> {
        eprintln!("round {}", c.rounds);
        Ok(())
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mode = if a.get(2).map(String::as_str) == Some("d") { Mode::Differential } else { Mode::Regular };
    let path = std::path::Path::new(&a[1]);
    let rounds = a.get(3).map_or(5, |r| r.parse().unwrap());
    let mut engine: Box<dyn Engine> = if let Some(p) = a.get(4) {
        Box::new(Peer::start(std::path::Path::new(p)).unwrap())
    } else {
        Box::new(Deltasoap::new().unwrap())
    };
    let c = if path.exists() {
        Calibration::load(path).unwrap()
    } else {
        let t = std::time::Instant::now();
        let c = measure(
            engine.as_mut(),
            Plan { mode, rounds, ..Plan::default() },
            Calibration::new(Machine::here(), engine.toolkit(), mode),
            &mut W,
        )
        .unwrap();
        eprintln!("{:?}", t.elapsed());
        c.save(path).unwrap();
        c
    };
    let m = Model::fit(&c).unwrap();
    for (act, am) in &m.activities {
        println!("== {act}");
        for (c, r) in &am.arrays {
            println!(
                "{c}: c0 {:.0}±{:.0} c1 {:.2}±{:.2} R2 {:.5} F {:.0} out {}",
                r.coefficients[0].value,
                r.coefficients[0].margin,
                r.coefficients[1].value,
                r.coefficients[1].margin,
                r.r_squared,
                r.f,
                r.outliers.len()
            );
        }
        if let Some(t) = &am.texts {
            for s in &t.segments {
                println!(
                    "text {}..{} c0 {:.0} c1 {:.4} R2 {:.4}",
                    s.from, s.to, s.line.coefficients[0].value, s.line.coefficients[1].value, s.line.r_squared
                );
            }
        }
        for (l, r) in &am.composites {
            println!(
                "comp {l}: {} R2 {:.5}",
                r.coefficients
                    .iter()
                    .map(|c| format!("{} {:.1}±{:.1}", c.name, c.value, c.margin))
                    .collect::<Vec<_>>()
                    .join(" "),
                r.r_squared
            );
        }
        println!("features R2 {:.4} dev {:.4}", am.features.fit.r_squared, am.features.fit.deviation);
        for c in &am.features.fit.coefficients {
            println!("   {}: {:.3} ± {:.3}", c.name, c.value, c.margin);
        }
        for n in &am.notes {
            println!("note {n}");
        }
        let mut errs = vec![];
        let mut perrs = vec![];
        let mut signed = 0.0;
        for p in c.of(*act).filter(|p| p.workload.is_composite()) {
            let u = Usage::of_workload(&p.workload, mode).unwrap();
            let e = am.features.estimate(&u).unwrap();
            errs.push((e.cost / p.cost() - 1.0).abs());
            signed += e.cost / p.cost() - 1.0;
            if let Some(b) = am.by_the_paper(&u) {
                perrs.push((b / p.cost() - 1.0).abs());
            }
        }
        errs.sort_by(f64::total_cmp);
        perrs.sort_by(f64::total_cmp);
        if !errs.is_empty() {
            println!(
                "composites: median {:.3} p90 {:.3} mean {:.3}; paper {:.3} {:.3}",
                errs[errs.len() / 2],
                errs[errs.len() * 9 / 10],
                signed / errs.len() as f64,
                perrs[perrs.len() / 2],
                perrs[perrs.len() * 9 / 10]
            );
        }
        let mut worst: Vec<_> = c
            .of(*act)
            .filter(|p| !p.workload.is_composite())
            .map(|p| {
                let u = Usage::of_workload(&p.workload, mode).unwrap();
                (am.features.estimate(&u).unwrap().cost / p.cost() - 1.0, p)
            })
            .collect();
        worst.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        for (e, p) in worst.iter().take(12) {
            println!("   worst {:+.3} {} {:.0}", e, p.workload, p.cost());
        }
    }
}
