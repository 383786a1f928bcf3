/* Forecasts of steps as tables. */
#pragma once

#include "bench/forecast/step_forecast.h"
#include "config/sweep.h"
#include "report/format/table.h"

/* One device, and the forecasts of all cells on it. */
typedef struct ForecastDevice {
    Limits limits;
    StepForecast *cells; /* as many as the sweep has */
} ForecastDevice;

typedef struct ForecastOutput {
    const Sweep *sweep;
    Config *configs; /* the cells of the sweep as the program runs them */
    const Efficiency *efficiency;
    ForecastDevice *devices;
    int n_devices;
    EfficiencyProgram program; /* whose step it is */
    double price;              /* of an hour; 0: not given */
} ForecastOutput;

/* In every format of reports.def. */
Status forecast_output_write(Text *out, const char *format, const ForecastOutput *forecasts);
