//! A series in time of any length, in a bounded number of pieces: when they become too many, neighbours become one.

use deadheat_model::LoadPhase;

/// What happened between two instants, in one phase.
pub(crate) trait Piece {
    /// The phase that it lies in.
    fn phase(&self) -> LoadPhase;

    /// Adds the piece that follows, so that both are one.
    fn append(&mut self, next: Self);
}

/// Pieces in order. Each is made of as many of those that were added, but for the ends of phases, which are never
/// mixed.
#[derive(Clone, Debug)]
pub(crate) struct Downsampled<T> {
    pieces: Vec<T>,
    most: usize,
    /// How many of those that were added make a piece.
    span: u32,
    /// How many the last piece has.
    filled: u32,
}

impl<T: Piece> Downsampled<T> {
    /// At most so many pieces, and one more for each change of phase.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            pieces: Vec::new(),
            most,
            span: 1,
            filled: 0,
        }
    }

    /// The pieces in order.
    pub(crate) fn pieces(&self) -> &[T] {
        &self.pieces
    }

    /// The pieces in order.
    pub(crate) fn into_pieces(self) -> Vec<T> {
        self.pieces
    }

    /// Adds what follows.
    pub(crate) fn push(&mut self, next: T) {
        match self.pieces.last_mut() {
            Some(last) if self.filled < self.span && last.phase() == next.phase() => {
                last.append(next);
                self.filled += 1;
            }
            _ => {
                if self.pieces.len() >= self.most {
                    self.halve();
                }
                self.pieces.push(next);
                self.filled = 1;
            }
        }
    }

    /// Makes one of each two neighbours of the same phase.
    fn halve(&mut self) {
        let mut fewer: Vec<T> = Vec::with_capacity(self.most);
        let mut paired = true;
        for piece in self.pieces.drain(..) {
            match fewer.last_mut() {
                Some(last) if !paired && last.phase() == piece.phase() => {
                    last.append(piece);
                    paired = true;
                }
                _ => {
                    fewer.push(piece);
                    paired = false;
                }
            }
        }
        self.pieces = fewer;
        self.span *= 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Run {
        phase: LoadPhase,
        from: u32,
        until: u32,
    }

    impl Piece for Run {
        fn phase(&self) -> LoadPhase {
            self.phase
        }

        fn append(&mut self, next: Self) {
            assert_eq!(self.until, next.from, "they follow each other");
            self.until = next.until;
        }
    }

    proptest! {
        #[test]
        fn all_is_there_in_order_and_phases_are_never_mixed(
            warm_up in 0_u32..3_000,
            measured in 0_u32..30_000,
            most in 4_usize..200,
        ) {
            let mut thinned = Downsampled::new(most);
            for from in 0..warm_up + measured {
                let phase = if from < warm_up { LoadPhase::WarmUp } else { LoadPhase::Measurement };
                thinned.push(Run { phase, from, until: from + 1 });
                prop_assert!(thinned.pieces().len() <= most + 1);
            }
            let pieces = thinned.into_pieces();
            let mut until = 0;
            for piece in &pieces {
                prop_assert_eq!(piece.from, until);
                prop_assert_eq!(piece.phase == LoadPhase::WarmUp, piece.from < warm_up);
                prop_assert!(piece.phase == LoadPhase::Measurement || piece.until <= warm_up);
                until = piece.until;
            }
            prop_assert_eq!(until, warm_up + measured);
            if (warm_up + measured) as usize >= most {
                prop_assert!(pieces.len() >= most / 2, "{} of {}", pieces.len(), most);
            }
        }
    }
}
