/**
 * Defines the values that all functions need that encode a request: the account, the model's
 * traits, the quirks, and the collector of notes.
 */
import type { Account } from '../../provider-interface.ts'
import { describeModel, type ModelTraits } from '../model-traits.ts'
import { createNoteCollector, type NoteCollector } from '../../note-collector.ts'
import { NOTES, type NoteCode } from '../encoding-notes.ts'
import { readGeminiQuirks, type GeminiQuirks } from '../quirks.ts'

export interface EncodingContext {
  readonly account: Account
  readonly model: ModelTraits
  readonly quirks: GeminiQuirks
  readonly notes: NoteCollector<NoteCode>
}

export function createEncodingContext(model: string, account: Account): EncodingContext {
  return {
    account,
    model: describeModel(model),
    quirks: readGeminiQuirks(account.quirks),
    notes: createNoteCollector('gemini', NOTES),
  }
}
