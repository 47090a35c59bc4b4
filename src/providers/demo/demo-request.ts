/** Defines the request to the demo model. */
import type { Item } from '../../core/item.ts'
import type { Tool, ToolChoice } from '../../core/prompt.ts'

export interface DemoRequest {
  readonly model: string
  readonly instructions: string | null
  readonly items: readonly Item[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | null
  readonly stream: boolean
  readonly delayMs: number
}
