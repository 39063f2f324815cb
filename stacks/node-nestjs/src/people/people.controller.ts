import {
  Body,
  Controller,
  Get,
  HttpCode,
  HttpStatus,
  Post,
} from '@nestjs/common';
import { type Person, personSchema } from './person.js';

@Controller('json')
export class PeopleController {
  @Get()
  list(): Person[] {
    return [{ name: 'John', username: 'Doe' }];
  }

  @Post()
  @HttpCode(HttpStatus.OK)
  greet(@Body({ schema: personSchema }) person: Person): string {
    return `Hello, ${person.name}!`;
  }
}
