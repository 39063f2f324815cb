import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

export interface User {
  id: number;
  email: string;
}

// Named, so that each connection prepares it once.
const FIRST_USERS = {
  name: 'first-users',
  text: 'select id, email from users order by id limit 10',
};

@Injectable()
export class UsersService {
  constructor(private readonly pool: Pool) {}

  async first(): Promise<User[]> {
    const { rows } = await this.pool.query<User>(FIRST_USERS);
    return rows;
  }
}
