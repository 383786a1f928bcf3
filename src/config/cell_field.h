/* What a cell is, field by field: the lines of cell_fields.def, by OptionId. */
#pragma once

#include "config/config.h"
#include "config/option_id.h"

typedef enum CellSubject {
    CELL_OF_MODEL = 1 << SUBJECT_MODEL,
    CELL_OF_ATTENTION = 1 << SUBJECT_ATTENTION,
    CELL_OF_COLLECTIVE = 1 << SUBJECT_COLLECTIVE,
    CELL_OF_BOTH = CELL_OF_MODEL | CELL_OF_ATTENTION,
    CELL_OF_RANKED = CELL_OF_MODEL | CELL_OF_COLLECTIVE,
    CELL_OF_ALL = CELL_OF_BOTH | CELL_OF_COLLECTIVE
} CellSubject;

typedef enum CellPart {
    CELL_PART_DIMS,
    CELL_PART_PLAN,
    CELL_PART_STEP,
    CELL_PART_RUN,
    CELL_PART_RANKS
} CellPart;
typedef enum CellNeed { CELL_NEED_MAYBE, CELL_NEED_ALWAYS, CELL_NEED_MODEL } CellNeed;
typedef enum CellPeer { CELL_PEER_NONE, CELL_PEER_PASSED, CELL_PEER_OWN } CellPeer;
typedef enum CellShow {
    CELL_SHOW_ALWAYS,
    CELL_SHOW_AXIS,
    CELL_SHOW_CUSTOM,
    CELL_SHOW_REPEATS,
    CELL_SHOW_VARIES,
    CELL_SHOW_HIDDEN
} CellShow;

/* The key's groups from this one on came later: their fields are left out at their least value. */
enum { CELL_KEY_LATER = 6, CELL_KEY_GROUPS = 7 };

typedef struct CellField {
    const char *name;  /* in results; NULL: in none */
    const char *label; /* for people; NULL: none */
    CellSubject subject;
    CellPart part;
    CellNeed need;
    CellShow show;
    int key, csv; /* groups, from 1 on; 0: none */
    CellPeer peer;
} CellField;

extern const CellField cell_field_table[CELL_FIELD_COUNT];

/* Do cells of this subject have the field? */
bool cell_field_of(int id, Subject subject);
/* And does it say anything of this one? */
bool cell_field_applies(int id, const Config *config);
/* Does it decide which plan a step has? These fields say what the work is. */
bool cell_field_is_work(int id);
/* By its name in results; -1: no cell has such a field. */
int cell_field_find(const char *name);
