// What this process takes: memory and time on a processor.

using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

/// <summary>Resident memory of this process, from /proc.</summary>
public static class Memory
{
    /// <summary>A line of the status, in bytes; 0 where there is none.</summary>
    public static long Status(string key)
    {
        try
        {
            var line = File.ReadLines("/proc/self/status").First(text => text.StartsWith(key));
            return long.Parse(new string(line.Where(char.IsDigit).ToArray())) * 1024;
        }
        catch (Exception)
        {
            return 0;
        }
    }

    /// <summary>Sets the high-water mark to what is resident now, where the kernel lets us.</summary>
    public static void ResetPeak()
    {
        try
        {
            File.WriteAllText("/proc/self/clear_refs", "5");
        }
        catch (Exception)
        {
            // Then it is the process's maximum.
        }
    }
}

/// <summary>Time on a processor, which .NET tells in steps of ten milliseconds alone.</summary>
public static class Processor
{
    private const int ThreadClock = 3;

    [StructLayout(LayoutKind.Sequential)]
    private struct Time
    {
        public IntPtr Seconds;
        public IntPtr Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int ClockGetTime(int clock, out Time time);

    /// <summary>Nanoseconds that this thread has been on a processor.</summary>
    public static long ThreadTime()
    {
        Time time;
        ClockGetTime(ThreadClock, out time);
        return (long)time.Seconds * 1000000000 + (long)time.Nanoseconds;
    }
}
