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

    /// The rows and columns of these places.
    pub(super) fn part(&self, places: &[usize]) -> Self {
        let rows = places.iter();
        let values = rows.flat_map(|row| places.iter().map(|column| self.at(*row, *column)));
        Self {
            size: places.len(),
            values: values.collect(),
        }
    }

    /// The rows of the lower triangle whose product with its transpose is this positive definite matrix (Cholesky; Golub
    /// & Van Loan, *Matrix Computations*, § 4.2).
    pub(super) fn root(&self) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(self.size);
        for place in 0..self.size {
            let mut row = Vec::with_capacity(place + 1);
            for above in &rows {
                let known: f64 = above.iter().zip(&row).map(|(a, b)| a * b).sum();
                row.push((self.at(place, row.len()) - known) / above[row.len()]);
            }
            let known: f64 = row.iter().map(|value| value * value).sum();
            row.push((self.at(place, place) - known).sqrt());
            rows.push(row);
        }
        rows
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

    fn example() -> Symmetric {
        let values = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]];
        Symmetric {
            size: 3,
            values: values.concat(),
        }
    }

    #[test]
    fn the_inverse_undoes_the_matrix() {
        let matrix = example();
        let vector = [1.0, -2.0, 3.0];
        let back = matrix.clone().inverse().times(&matrix.times(&vector));
        for (found, expected) in back.iter().zip(vector) {
            assert!((found - expected).abs() < 1e-12, "{back:?}");
        }
    }

    #[test]
    fn the_root_times_its_transpose_is_the_matrix() {
        let matrix = example().part(&[2, 0, 1]);
        let root = matrix.root();
        for (row, one) in root.iter().enumerate() {
            for (column, other) in root.iter().enumerate() {
                let found: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
                assert!((found - matrix.at(row, column)).abs() < 1e-12, "{root:?}");
            }
        }
    }
}
