//! Failures of statistics.

use super::{Failure, Status};
use lattice_statistics::StatisticsError;

impl From<StatisticsError> for Failure {
    fn from(error: StatisticsError) -> Self {
        let status = match error {
            StatisticsError::Option { .. } => Status::Usage,
            StatisticsError::NotConverged { .. } => Status::Failed,
            _ => Status::File,
        };
        let hint = matches!(error, StatisticsError::Gap { .. }).then_some("--gaps account or --gaps ignore");
        let failure = Failure::new(status, error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
