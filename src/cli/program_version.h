/* Programs that may be installed beside this one, and which versions they are. */
#pragma once

typedef enum Program { NVCC, TORCH, NODE, SQLITE, PROGRAMS } Program;

typedef struct ProgramVersion {
    char s[256]; /* "": not installed */
} ProgramVersion;

/* A program that hangs is killed after 10 s. */
ProgramVersion program_version(Program program);
