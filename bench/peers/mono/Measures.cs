// The resources of this process: memory and processor time.

using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

/// <summary>Resident memory of this process, from /proc.</summary>
public static class Memory
{
    /// <summary>A line of the status, in bytes; 0 if missing.</summary>
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

    /// <summary>Resets the peak to the current value, if the kernel allows it.</summary>
    public static void ResetPeak()
    {
        try
        {
            File.WriteAllText("/proc/self/clear_refs", "5");
        }
        catch (Exception)
        {
            // Then it is the peak of the process.
        }
    }
}

/// <summary>Processor time, which .NET reports only in steps of ten milliseconds.</summary>
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

    /// <summary>Processor time of this thread in nanoseconds.</summary>
    public static long ThreadTime()
    {
        Time time;
        ClockGetTime(ThreadClock, out time);
        return (long)time.Seconds * 1000000000 + (long)time.Nanoseconds;
    }
}
