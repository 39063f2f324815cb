const COUNT = 100;
const CATEGORIES = ["books", "garden", "kitchen", "music", "tools"] as const;

/** So many products, from the one with the id `first` on. */
export function productsFrom(first: number) {
  return Array.from({ length: COUNT }, (_, index) => product(first + index));
}

function product(id: number) {
  return {
    id,
    name: `Product ${id}`,
    category: CATEGORIES[id % CATEGORIES.length],
    price: (id * 37) % 10_007,
    stock: (id * 31) % 101,
  };
}
