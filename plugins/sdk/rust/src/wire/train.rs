use super::{fields, Decoded, Writer};
use crate::{Bundle, Logs, TrainableTraits, Trial};

/// OpenTrainableRequest and RequestResourcesRequest: JSON.
pub fn json_request(message: &[u8]) -> Decoded<String> {
    let mut json = String::new();
    fields(message, |field, value| {
        if field == 1 {
            json = value.text()?;
        }
        Ok(())
    })?;
    Ok(json)
}

/// OpenTrainableResponse.
pub fn open_trainable_response(t: TrainableTraits) -> Vec<u8> {
    Writer::message(|w| {
        w.flag(1, t.reusable);
        w.flag(2, t.shared);
        w.flag(3, t.saves);
        w.flag(4, t.requests);
    })
}

/// RequestResourcesResponse.
pub fn resources_response(json: &str) -> Vec<u8> {
    Writer::message(|w| w.text(1, json))
}

fn read_bundle(message: &[u8]) -> Decoded<Bundle> {
    let mut b = Bundle::default();
    fields(message, |field, value| {
        match field {
            1 => b.node = value.text()?,
            2 => b.resources = value.text()?,
            3 => b.devices.push(value.text()?),
            4 => b.address = value.text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(b)
}

fn read_logs(message: &[u8]) -> Decoded<Logs> {
    let mut l = Logs { stdout: String::new(), stderr: String::new() };
    fields(message, |field, value| {
        match field {
            1 => l.stdout = value.text()?,
            2 => l.stderr = value.text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(l)
}

pub(super) fn read_trial(message: &[u8]) -> Decoded<Trial> {
    let mut t = Trial::default();
    fields(message, |field, value| {
        match field {
            1 => t.id = value.text()?,
            2 => t.number = value.small()?,
            3 => t.attempt = value.small()?,
            4 => t.experiment = value.text()?,
            5 => t.params = value.text()?,
            6 => t.options = value.text()?,
            7 => t.seed = value.uint()?,
            8 => t.dir = value.text()?,
            9 => t.restore = value.text()?,
            10 => t.iteration = value.uint()?,
            11 => t.resources = value.text()?,
            12 => t.devices.push(value.text()?),
            13 => t.checkpoint_every = value.uint()?,
            14 => t.run_ahead = value.small()?,
            15 => t.grace_seconds = value.double()?,
            16 => t.checkpoint_at_end = value.flag()?,
            17 => t.bundles.push(read_bundle(value.bytes()?)?),
            20 => t.logs = read_logs(value.bytes()?)?,
            21 => t.confirms = value.flag()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_a_trial() {
        let read = |message: &[u8]| read_trial(message).unwrap().logs;
        assert_eq!(read(&[]), Logs { stdout: "stdout".into(), stderr: "stderr".into() });
        let named = Writer::message(|w| w.element(20, &Writer::message(|w| w.text(2, "errors"))));
        assert_eq!(read(&named), Logs { stdout: String::new(), stderr: "errors".into() });
    }

    #[test]
    fn bundles_of_a_trial() {
        let place = |node: &str, gpus: &[&str]| {
            Writer::message(|w| {
                w.text(1, node);
                w.text(2, "{}");
                gpus.iter().for_each(|gpu| w.element(3, gpu.as_bytes()));
                w.text(4, "10.0.0.7");
            })
        };
        let message = Writer::message(|w| {
            w.element(17, &place("a", &["0", "1"]));
            w.element(17, &place("b", &[]));
        });
        let bundles = read_trial(&message).unwrap().bundles;
        assert_eq!(bundles.len(), 2);
        assert_eq!((bundles[0].node.as_str(), bundles[1].node.as_str()), ("a", "b"));
        assert_eq!(bundles[0].devices, ["0", "1"]);
        assert_eq!(bundles[1].resources, "{}");
        assert_eq!(bundles[1].address, "10.0.0.7");
    }
}
