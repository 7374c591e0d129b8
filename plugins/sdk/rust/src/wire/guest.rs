use super::problem::write_metrics;
use super::train::read_trial;
use super::{fields, Decoded, Writer};
use crate::{Report, Trial};

/// The trial that a module trains.
#[derive(Default)]
pub struct GuestTrain {
    pub trial: Trial,
    /// The state to continue from, if there is one.
    pub state: Option<Vec<u8>>,
}

/// GuestTrainRequest.
pub fn guest_train_request(message: &[u8]) -> Decoded<GuestTrain> {
    let mut g = GuestTrain::default();
    let mut state = Vec::new();
    fields(message, |field, value| {
        match field {
            1 => g.trial = read_trial(value.bytes()?)?,
            2 if value.flag()? => g.state = Some(Vec::new()),
            3 => state = value.bytes()?.to_vec(),
            _ => {}
        }
        Ok(())
    })?;
    g.state = g.state.map(|_| state);
    Ok(g)
}

/// GuestTrainResponse.
pub fn guest_train_response(error: &str, restore_failed: bool) -> Vec<u8> {
    Writer::message(|w| {
        w.text(1, error);
        w.flag(2, restore_failed);
    })
}

/// GuestReport.
pub fn guest_report(r: &Report, saves: bool) -> Vec<u8> {
    Writer::message(|w| {
        write_metrics(w, 1, &r.metrics);
        w.uint(2, r.iteration);
        w.flag(3, r.done);
        w.flag(4, saves);
        w.text(5, &r.values());
    })
}

/// GuestSaved.
pub fn guest_saved(state: Result<&[u8], &str>) -> Vec<u8> {
    Writer::message(|w| match state {
        Ok(state) => w.bytes(1, state),
        Err(why) => w.text(2, why),
    })
}
