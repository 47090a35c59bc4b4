/** An engine with its stores for all tests of a contract, and an owner of its own for each of them. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import { createStores, type Stores } from '../../src/store/create-stores.ts'
import type { RowEncryption } from '../../src/store/encryption/read-encrypted-rows.ts'
import { newId } from './turns.ts'

export interface OpenedStores {
  readonly engine: Engine
  readonly stores: Stores
  readonly owner: Caller
}

export function openedStores(open: () => Promise<Engine>, vault: RowEncryption): OpenedStores {
  const opened: { -readonly [Name in keyof OpenedStores]?: OpenedStores[Name] } = {}
  beforeAll(async () => {
    opened.engine = await open()
    opened.stores = createStores(opened.engine, vault)
  })
  afterAll(() => opened.engine?.close())
  beforeEach(() => {
    opened.owner = { tenant: newId(), user: null }
  })
  return {
    get engine() {
      return there(opened.engine)
    },
    get stores() {
      return there(opened.stores)
    },
    get owner() {
      return there(opened.owner)
    },
  }
}

function there<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('This is there only while a test runs.')
  return value
}
