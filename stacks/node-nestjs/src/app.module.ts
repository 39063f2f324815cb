import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { FortunesModule } from './fortunes/fortunes.module.js';
import { HashModule } from './hash/hash.module.js';
import { ItemsModule } from './items/items.module.js';
import { PayloadModule } from './payload/payload.module.js';
import { PeopleController } from './people/people.controller.js';
import { PlaintextController } from './plaintext.controller.js';
import { ProductsController } from './products/products.controller.js';
import { ProxyModule } from './proxy/proxy.module.js';
import { settings } from './settings.js';
import { UploadController } from './upload/upload.controller.js';
import { UsersModule } from './users/users.module.js';

@Module({
  imports: [
    ConfigModule.forRoot({
      isGlobal: true,
      ignoreEnvFile: true,
      load: [settings],
    }),
    FortunesModule,
    HashModule,
    ItemsModule,
    PayloadModule,
    ProxyModule,
    UsersModule,
  ],
  controllers: [
    PlaintextController,
    PeopleController,
    ProductsController,
    UploadController,
  ],
})
export class AppModule {}
