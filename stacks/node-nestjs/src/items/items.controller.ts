import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  NotFoundException,
  Param,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  type Item,
  type ItemDraft,
  itemDraftSchema,
  itemIdSchema,
  type ItemPage,
  itemPageSchema,
} from './item.js';
import { ItemsService } from './items.service.js';

@Controller('items')
export class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Get()
  list(@Query({ schema: itemPageSchema }) page: ItemPage): Promise<Item[]> {
    return this.items.list(page);
  }

  @Post()
  async create(
    @Body({ schema: itemDraftSchema }) draft: ItemDraft,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Item> {
    const item = await this.items.create(draft);
    reply.header('Location', `/items/${item.id}`);
    return item;
  }

  @Get(':id')
  async find(@Param('id', { schema: itemIdSchema }) id: number): Promise<Item> {
    return existing(await this.items.find(id));
  }

  @Put(':id')
  async replace(
    @Param('id', { schema: itemIdSchema }) id: number,
    @Body({ schema: itemDraftSchema }) draft: ItemDraft,
  ): Promise<Item> {
    return existing(await this.items.replace(id, draft));
  }

  @Delete(':id')
  @HttpCode(HttpStatus.NO_CONTENT)
  async remove(
    @Param('id', { schema: itemIdSchema }) id: number,
  ): Promise<void> {
    if (!(await this.items.remove(id))) throw new NotFoundException();
  }
}

/** The item, if it was found. */
function existing(item: Item | undefined): Item {
  if (item === undefined) throw new NotFoundException();
  return item;
}
