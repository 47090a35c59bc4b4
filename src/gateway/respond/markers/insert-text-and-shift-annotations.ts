/**
 * Inserts text into the messages that a client receives, and shifts the positions of annotations: after 30 inserted
 * characters, a citation at 6 to 9 is at 36 to 39. The stored answer does not change.
 */
import type { AnnotationAdded, ItemEnded, TextDelta } from '../../../core/stream-event.ts'
import type { Item, Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'

/** The insertions into one answer. The `apply…` functions return the same object if it has none. */
export interface TextInsertions {
  /** Records an insertion and returns its delta. A second insertion at a position goes after the first. */
  readonly insert: (insertion: TextInsertion) => TextDelta
  readonly applyToItem: (event: ItemEnded) => ItemEnded
  readonly applyToAnnotation: (event: AnnotationAdded) => AnnotationAdded
  /** Replaces the items that `applyToItem` changed before. */
  readonly applyToOutcome: (outcome: Outcome) => Outcome
}

export interface TextInsertion {
  readonly index: number
  readonly part: number
  /** Character offset in the model's own text of the part. */
  readonly at: number
  readonly text: string
}

export function createTextInsertions(): TextInsertions {
  const insertions: TextInsertion[] = []
  const changedItems = new Map<Item, Item>()
  const listInsertions = (index: number, part: number): readonly TextInsertion[] =>
    insertions.filter((insertion) => insertion.index === index && insertion.part === part)
  return {
    insert(insertion) {
      insertions.push(insertion)
      const { index, part, text } = insertion
      return { type: 'text-delta', index, part, text }
    },
    applyToItem(event) {
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
    applyToAnnotation(event) {
      const annotation = shiftAnnotation(event.annotation, listInsertions(event.index, event.part))
      return annotation === event.annotation ? event : { ...event, annotation }
    },
    applyToOutcome(outcome) {
      if (changedItems.size === 0) return outcome
      return { ...outcome, items: outcome.items.map((item) => changedItems.get(item) ?? item) }
    },
  }
}

function insertIntoPart(part: Part, insertions: readonly TextInsertion[]): Part {
  if (insertions.length === 0 || part.type !== 'output_text') return part
  let text = part.text
  for (const { at, text: inserted } of insertions.toReversed()) {
    text = text.slice(0, at) + inserted + text.slice(at)
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
    const before = insertions.filter(({ at }) => (isEnd ? at < position : at <= position))
    return [[name, before.reduce((sum, { text }) => sum + text.length, position)] as const]
  })
  return { ...annotation, ...Object.fromEntries(shifted) }
}

/** The fields of an annotation that are text positions. An end is exclusive: text inserted at it does not move it. */
const INDEX_FIELDS = [
  ['start_index', false],
  ['end_index', true],
  ['index', false],
] as const
