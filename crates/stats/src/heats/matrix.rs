//! As much of linear algebra as the fit needs: symmetric positive definite matrices of a few dozen rows.

/// A symmetric matrix. Both halves are kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symmetric {
    size: usize,
    values: Vec<f64>,
}

impl Symmetric {
    /// A matrix of zeros.
    pub(super) fn zero(size: usize) -> Self {
        Self {
            size,
            values: vec![0.0; size * size],
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub(super) fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.size + column]
    }

    /// The product with a vector.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks(self.size.max(1));
        rows.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    }

    /// The inverse of a positive definite matrix, by Gauss and Jordan in place. Pivots on the diagonal are safe for
    /// such a matrix (Golub & Van Loan, *Matrix Computations*, § 4.2).
    pub(super) fn inverse(mut self) -> Self {
        let n = self.size;
        for pivot in 0..n {
            let divisor = self.at(pivot, pivot);
            *self.at_mut(pivot, pivot) = 1.0;
            for column in 0..n {
                *self.at_mut(pivot, column) /= divisor;
            }
            for row in (0..n).filter(|row| *row != pivot) {
                let factor = self.at(row, pivot);
                *self.at_mut(row, pivot) = 0.0;
                for column in 0..n {
                    let taken = factor * self.at(pivot, column);
                    *self.at_mut(row, column) -= taken;
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_undoes_the_matrix() {
        let mut matrix = Symmetric::zero(3);
        let values = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]];
        for (row, values) in values.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                *matrix.at_mut(row, column) = *value;
            }
        }
        let vector = [1.0, -2.0, 3.0];
        let back = matrix.clone().inverse().times(&matrix.times(&vector));
        for (found, expected) in back.iter().zip(vector) {
            assert!((found - expected).abs() < 1e-12, "{back:?}");
        }
    }
}
