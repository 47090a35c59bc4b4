/** Opens an engine and its stores for all tests of a contract, with a new owner for each test. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import { createStores, type Stores } from '../../src/store/create-stores.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { newId } from './turns.ts'

export interface OpenedStores {
  readonly engine: Engine
  readonly stores: Stores
  readonly owner: Caller
}

export function openStores(open: () => Promise<Engine>, encryption: RowEncryption): OpenedStores {
  const opened: { -readonly [Name in keyof OpenedStores]?: OpenedStores[Name] } = {}
  beforeAll(async () => {
    opened.engine = await open()
    opened.stores = createStores(opened.engine, encryption)
  })
  afterAll(() => opened.engine?.close())
  beforeEach(() => {
    opened.owner = { tenant: newId(), user: null }
  })
  return {
    get engine() {
      return requireOpened(opened.engine)
    },
    get stores() {
      return requireOpened(opened.stores)
    },
    get owner() {
      return requireOpened(opened.owner)
    },
  }
}

function requireOpened<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('This is there only while a test runs.')
  return value
}
