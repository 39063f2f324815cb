export const PAYLOAD = Buffer.alloc(1 << 20, 'd');
