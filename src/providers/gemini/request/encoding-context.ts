/** What every part of encoding a request has to know, and where it writes what it could not say. */
import type { Account } from '../../provider-interface.ts'
import { describeModel, type ModelTraits } from '../model-traits.ts'
import { createNoteCollector, type NoteCollector } from '../encoding-notes.ts'
import { readGeminiQuirks, type GeminiQuirks } from '../quirks.ts'

export interface EncodingContext {
  readonly account: Account
  readonly model: ModelTraits
  readonly quirks: GeminiQuirks
  readonly notebook: NoteCollector
}

export function createEncodingContext(model: string, account: Account): EncodingContext {
  return {
    account,
    model: describeModel(model),
    quirks: readGeminiQuirks(account.quirks),
    notebook: createNoteCollector(),
  }
}
