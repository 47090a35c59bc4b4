/**
 * Inserts text into the messages that a client receives, and shifts annotations accordingly. A citation of
 * the characters 6 to 9 refers to 36 to 39 after 30 characters are inserted before it. The stored answer
 * does not change.
 */
import type { AnnotationAdded, ItemEnded, TextDelta } from '../../../core/stream-event.ts'
import type { Item, Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/collect-answer-outcome.ts'

export interface TextInsertion {
  readonly index: number
  readonly part: number
  /** Character offset in the text of the part as it was before all insertions. */
  readonly offset: number
  readonly text: string
}

export type TextInsertions = ReturnType<typeof createTextInsertions>

/**
 * Creates the list of insertions into one answer. The `apply…` functions return their argument itself if
 * nothing was inserted there.
 */
export function createTextInsertions() {
  const insertions: TextInsertion[] = []
  const changedItems = new Map<Item, Item>()
  const listInsertions = (index: number, part: number): readonly TextInsertion[] =>
    insertions.filter((insertion) => insertion.index === index && insertion.part === part)
  return {
    /** Records an insertion and returns its text delta. A later insertion at the same offset comes after it. */
    insert(insertion: TextInsertion): TextDelta {
      insertions.push(insertion)
      const { index, part, text } = insertion
      return { type: 'text-delta', index, part, text }
    },
    applyToItem(event: ItemEnded): ItemEnded {
      const { index, item } = event
      if (item.type !== 'message' || insertions.every((insertion) => insertion.index !== index))
        return event
      const content = item.content.map((part, partIndex) =>
        insertIntoPart(part, listInsertions(index, partIndex)),
      )
      const changed: Item = { ...item, content }
      changedItems.set(item, changed)
      return { ...event, item: changed }
    },
    applyToAnnotation(event: AnnotationAdded): AnnotationAdded {
      const annotation = shiftAnnotation(event.annotation, listInsertions(event.index, event.part))
      return annotation === event.annotation ? event : { ...event, annotation }
    },
    /** Replaces the items into which text was inserted (by `applyToItem`). */
    applyToOutcome(outcome: Outcome): Outcome {
      if (changedItems.size === 0) return outcome
      return { ...outcome, items: outcome.items.map((item) => changedItems.get(item) ?? item) }
    },
  }
}

function insertIntoPart(part: Part, insertions: readonly TextInsertion[]): Part {
  if (insertions.length === 0 || part.type !== 'output_text') return part
  let text = part.text
  for (const { offset, text: inserted } of insertions.toReversed()) {
    text = text.slice(0, offset) + inserted + text.slice(offset)
  }
  const { annotations } = part
  if (annotations === undefined) return { ...part, text }
  return { ...part, text, annotations: annotations.map((one) => shiftAnnotation(one, insertions)) }
}

function shiftAnnotation(annotation: JsonObject, insertions: readonly TextInsertion[]): JsonObject {
  if (insertions.length === 0) return annotation
  const shifted = INDEX_FIELDS.flatMap(([name, isEnd]) => {
    const position = annotation[name]
    if (typeof position !== 'number') return []
    const before = insertions.filter(({ offset }) =>
      isEnd ? offset < position : offset <= position,
    )
    return [[name, before.reduce((sum, { text }) => sum + text.length, position)] as const]
  })
  return { ...annotation, ...Object.fromEntries(shifted) }
}

/**
 * Annotation fields that are text positions. The second value is true for an exclusive end. It is not
 * shifted by text that is inserted exactly there, because that text comes after the cited text.
 */
const INDEX_FIELDS = [
  ['start_index', false],
  ['end_index', true],
  ['index', false],
] as const
