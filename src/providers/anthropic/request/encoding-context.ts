/**
 * Defines the context that the functions of the request encoder share: the traits of the model,
 * the collector of notes, and the budget for JSON in texts.
 */
import type { JsonBudget } from '../../../core/json/limited-json.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { ModelTraits } from '../model-traits.ts'

export interface EncodingContext {
  readonly traits: ModelTraits
  readonly notes: AnthropicNotes
  readonly jsonBudget: JsonBudget
}
