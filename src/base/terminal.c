#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

int terminal_columns(int fd)
{
    struct winsize size;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
