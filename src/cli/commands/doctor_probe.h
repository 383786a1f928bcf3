/* What else is installed: asked of other programs, so only `doctor` does it. */
#ifndef CLI_COMMANDS_DOCTOR_PROBE_H
#define CLI_COMMANDS_DOCTOR_PROBE_H

#include <stdbool.h>

enum { DOCTOR_PROBE_TEXT = 256 };

typedef struct DoctorProbe {
    bool there;
    char text[DOCTOR_PROBE_TEXT]; /* version, or what was seen; "" when not there */
} DoctorProbe;

DoctorProbe doctor_probe_nvcc(void); /* "12.4" */
DoctorProbe doctor_probe_torch(void);
DoctorProbe doctor_probe_node(void);
DoctorProbe doctor_probe_sqlite(void);

#endif
