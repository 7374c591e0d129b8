use super::problem::write_metrics;
use super::train::read_trial;
use super::{fields, Decoded, Writer};
use crate::{Report, Trial};

/// What the host tells a run.
#[derive(Debug)]
pub enum Order {
    Start(Box<Trial>),
    Continue(u32),
    Save(String),
    Stop { credits: u32, dir: String, paused: bool },
    Kill,
}

/// TrainRequest: each order with its run.
pub fn train_request(message: &[u8]) -> Result<Vec<(u64, Order)>, String> {
    let mut orders = Vec::new();
    let mut unknown = None;
    let read = fields(message, |field, value| {
        if field == 1 {
            match read_order(value.bytes()?)? {
                (run, Ok(order)) => orders.push((run, order)),
                (_, Err(why)) => unknown = Some(why),
            }
        }
        Ok(())
    });
    read.map_err(|e| e.to_string())?;
    unknown.map_or(Ok(orders), Err)
}

fn read_order(message: &[u8]) -> Decoded<(u64, Result<Order, String>)> {
    let (mut kind, mut run, mut trial, mut credits) = (0, 0, None, 0);
    let (mut dir, mut paused) = (String::new(), false);
    fields(message, |field, value| {
        match field {
            1 => kind = value.uint()?,
            2 => run = value.uint()?,
            3 => trial = Some(Box::new(read_trial(value.bytes()?)?)),
            4 => credits = value.small()?,
            5 => dir = value.text()?,
            6 => paused = value.flag()?,
            _ => {}
        }
        Ok(())
    })?;
    let order = match (kind, trial) {
        (1, Some(trial)) => Ok(Order::Start(trial)),
        (1, None) => Err(format!("run {} was started without a trial", run)),
        (2, _) => Ok(Order::Continue(credits)),
        (3, _) => Ok(Order::Save(dir)),
        (4, _) => Ok(Order::Stop { credits, dir, paused }),
        (5, _) => Ok(Order::Kill),
        _ => Err(format!("unknown command {} for run {}", kind, run)),
    };
    Ok((run, order))
}

/// What a run says.
#[derive(Debug)]
pub enum Said {
    Started { pid: u32 },
    Result(Report),
    Saved { iteration: u64, dir: String, error: String },
    Ended { error: String, restore_failed: bool, never_started: bool },
    Log(String),
    Rejected(String),
}

/// Adds an event of a TrainResponse to a message.
pub fn write_said(w: &mut Writer, run: u64, said: &Said) {
    w.nested(1, |w| {
        let kind = match said {
            Said::Started { .. } => 1,
            Said::Result(_) => 2,
            Said::Saved { .. } => 3,
            Said::Ended { .. } => 4,
            Said::Log(_) => 5,
            Said::Rejected(_) => 6,
        };
        w.uint(1, kind);
        w.uint(2, run);
        write_details(w, said);
    });
}

fn write_details(w: &mut Writer, said: &Said) {
    match said {
        Said::Started { pid } => w.uint(3, u64::from(*pid)),
        Said::Result(r) => {
            write_metrics(w, 4, &r.metrics);
            w.uint(5, r.iteration);
            w.flag(7, r.done);
            w.text(13, &r.values());
        }
        Said::Saved { iteration, dir, error } => {
            w.uint(5, *iteration);
            w.text(6, dir);
            w.text(8, error);
        }
        Said::Ended { error, restore_failed, never_started } => {
            w.text(8, error);
            w.flag(10, *restore_failed);
            w.flag(11, *never_started);
        }
        Said::Log(text) | Said::Rejected(text) => w.text(9, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fields;

    /// The values of the event that is sent for a report.
    fn sent(report: Report) -> Option<String> {
        let message = Writer::message(|w| write_said(w, 1, &Said::Result(report)));
        let mut found = None;
        fields(&message, |_, event| {
            fields(event.bytes()?, |field, value| {
                if field == 13 {
                    found = Some(value.text()?);
                }
                Ok(())
            })
        })
        .unwrap();
        found
    }

    #[test]
    fn values_go_beside_the_metrics() {
        let report = Report::new(&[("loss", 1.0)]);
        assert_eq!(sent(report.clone()), None);
        assert_eq!(sent(report.value("note", "warm")).as_deref(), Some(r#"{"note":"warm"}"#));
    }
}
