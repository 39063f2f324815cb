import { Controller, Get } from '@nestjs/common';
import { type User, UsersService } from './users.service.js';

@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get()
  list(): Promise<User[]> {
    return this.users.first();
  }
}
