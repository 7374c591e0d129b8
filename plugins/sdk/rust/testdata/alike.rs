//! The trainable of plugins/sdk/samples/alike.

use tunehost::{Info, Options, Report, Result, Run, Trainable, TrainableTraits};

const INFO: Info = Info {
    name: "alike",
    version: "1.0.0",
    summary: "Does what a trainable can do.",
    options: r#"{"type":"object"}"#,
};

struct Alike;

fn open(_: &mut Options) -> Result<Alike> {
    Ok(Alike)
}

impl Trainable for Alike {
    fn traits(&self) -> TrainableTraits {
        TrainableTraits { reusable: true, saves: true, ..TrainableTraits::default() }
    }

    fn train(&self, run: &mut Run) -> Result<()> {
        let ended = epochs(run);
        println!("cleaned up");
        ended
    }
}

fn epochs(run: &mut Run) -> Result<()> {
    for i in 1..=9 {
        println!("epoch {}", i);
        eprintln!("warning {}", i);
        let report = Report::new(&[("loss", 1.0 / f64::from(i)), ("whole", f64::from(2 * i))])
            .value("note", format!("epoch \"{}\"", i))
            .value("ok", true)
            .value("sizes", vec![1.0, 2.5]);
        run.report_saving(report, || Ok(format!("state {}", i).into_bytes()))?;
    }
    Ok(())
}

fn main() {
    tunehost::trainable(INFO, open)
}
