/**
 * Defines the context that the functions of the request encoder share: the account, the traits of
 * the model, the quirks, the collector of notes, and the budget for JSON in texts.
 */
import { createJsonBudget, type JsonBudget } from '../../../core/json/limited-json.ts'
import type { Account } from '../../provider-interface.ts'
import { getModelTraits, type ModelTraits } from '../model-traits.ts'
import { createNoteCollector } from '../../note-collector.ts'
import { NOTES, type GeminiNotes } from '../encoding-notes.ts'
import { readGeminiQuirks, type GeminiQuirks } from '../quirks.ts'

export interface EncodingContext {
  readonly account: Account
  readonly model: ModelTraits
  readonly quirks: GeminiQuirks
  readonly notes: GeminiNotes
  readonly jsonBudget: JsonBudget
}

export function createEncodingContext(model: string, account: Account): EncodingContext {
  return {
    account,
    model: getModelTraits(model),
    quirks: readGeminiQuirks(account.quirks),
    notes: createNoteCollector('gemini', NOTES),
    jsonBudget: createJsonBudget(),
  }
}
