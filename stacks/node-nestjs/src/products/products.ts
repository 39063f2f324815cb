const COUNT = 100;
const CATEGORIES = ['books', 'garden', 'kitchen', 'music', 'tools'] as const;

export interface Product {
  id: number;
  name: string;
  category: string;
  price: number;
  stock: number;
}

/** So many products, from the one with the id `first` on. */
export function productsFrom(first: number): Product[] {
  return Array.from({ length: COUNT }, (_, index) => product(first + index));
}

function product(id: number): Product {
  return {
    id,
    name: `Product ${id}`,
    category: CATEGORIES[id % CATEGORIES.length]!,
    price: (id * 37) % 10_007,
    stock: (id * 31) % 101,
  };
}
